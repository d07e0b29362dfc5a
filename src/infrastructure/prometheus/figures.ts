/** A value of a metric, told apart from its others by its labels. */
export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Where it is not the metric's own: of a histogram's buckets, sum and count. */
  readonly metricName?: string;
}

/** A metric as somebody else knows it at this moment. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly values: readonly Sample[];
}

/** Where figures come from. */
export interface Source {
  /** May throw or take long. */
  readonly ask: () => readonly Figure[] | Promise<readonly Figure[]>;
  /** What is told instead then; by default nothing. */
  readonly otherwise?: readonly Figure[];
}

type Values = number | readonly Sample[];

const figure = (type: Figure['type']) => (name: string, help: string, values: Values) => ({
  name,
  help,
  type,
  values: typeof values === 'number' ? [{ value: values }] : values,
});

export const gauge = figure('gauge');
export const counter = figure('counter');
export const histogram = figure('histogram');
