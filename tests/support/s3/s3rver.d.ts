declare module '@20minutes/s3rver' {
  import type { RequestListener } from 'node:http';

  class S3rver {
    constructor(options: Readonly<Record<string, unknown>>);
    configureBuckets(): Promise<void>;
    callback(): RequestListener;
  }
  export = S3rver;
}
