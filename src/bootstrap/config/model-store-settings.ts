import { z } from 'zod';
import { baseAddress, flag, setting, whole } from './setting.js';

const BUCKET = /^s3:\/\/([\w.-]{3,63})(?:\/(.*))?$/;
/** Parts that are not empty and do not begin with a dot. */
const PREFIX = /^([\w!'()*-][\w .!'()*-]*\/)*$/;

/** The settings of the bucket for uploaded models. */
export const modelStoreSettings = {
  SERVICE_MODEL_STORE: setting({
    about:
      'The bucket for uploaded models: `s3://bucket/prefix` in S3 or a compatible store. Its credentials are `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or those that the AWS SDK finds by itself.',
    shown: '`models/` in the data folder',
    read: z.string().transform((text, context) => {
      const [, bucket, path = ''] = BUCKET.exec(text) ?? [];
      const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
      if (bucket !== undefined && PREFIX.test(prefix)) return { bucket, prefix };
      context.addIssue({ code: 'custom', message: 'must be s3://bucket or s3://bucket/prefix' });
      return z.NEVER;
    }),
  }),
  SERVICE_S3_ENDPOINT: setting({
    about: 'The URL of a store that is compatible with S3, such as MinIO or Ceph.',
    shown: 'AWS',
    secret: true,
    read: baseAddress.refine(
      (url) => URL.canParse(url) && new URL(url).username === '' && new URL(url).password === '',
      { error: 'must have no credentials' },
    ),
  }),
  SERVICE_S3_REGION: setting({
    about: 'The region of the bucket.',
    shown: '`AWS_REGION`, or `us-east-1`',
    read: z.string().regex(/^[\w-]{1,63}$/, { error: 'must be a region such as eu-central-1' }),
  }),
  SERVICE_S3_FORCE_PATH_STYLE: setting({
    about: '`true`: the path of a URL names the bucket. `false`: the host of a URL names the bucket.',
    shown: '`true` with `SERVICE_S3_ENDPOINT`',
    read: flag,
  }),
  SERVICE_MODEL_CACHE_MB: setting({
    about: 'The disk space for copies of models from `SERVICE_MODEL_STORE`, in units of 1,048,576 bytes.',
    fallback: '16384',
    read: whole(1, 1_073_741_824),
  }),
};
