import { type Attribute, type Constant, FLOAT, INT64, type Node } from './onnx-graph.js';
import { SeededChance } from './seeded-chance.js';

/** Collects the nodes and constants of a network, and names them. */
export class GraphWriter {
  protected readonly nodes: Node[] = [];
  protected readonly constants: Constant[] = [];
  protected readonly chance: SeededChance;
  private count = 0;

  constructor(seed = 1) {
    this.chance = new SeededChance(seed);
  }

  protected op(op: string, inputs: string[], attributes: Record<string, Attribute> = {}, output = this.name()): string {
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  protected name(): string {
    this.count += 1;
    return `value_${this.count}`;
  }

  protected constant(type: number, values: Constant[2], shape?: readonly number[]): string {
    const name = this.name();
    this.constants.push([name, type, values, shape]);
    return name;
  }

  protected integers(...values: number[]): string {
    return this.constant(INT64, values, [values.length]);
  }

  /** Makes uniformly distributed weights with the standard deviation `scale`. */
  protected weights(shape: readonly number[], scale: number): string {
    const values = new Float32Array(shape.reduce((size, one) => size * one, 1));
    const width = scale * Math.sqrt(12);
    for (let i = 0; i < values.length; i++) values[i] = (this.chance.next() - 0.5) * width;
    return this.constant(FLOAT, values, shape);
  }
}
