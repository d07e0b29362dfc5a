import { z } from 'zod';
import { baseAddress, flag, setting, whole } from './setting.js';

const BUCKET = /^s3:\/\/([\w.-]{3,63})(?:\/(.*))?$/;
/** Parts that are neither empty nor begin with a dot. */
const PREFIX = /^([\w!'()*-][\w .!'()*-]*\/)*$/;

/** The bucket that uploaded models are kept in. */
export const modelStoreSettings = {
  SERVICE_MODEL_STORE: setting({
    about:
      'Where uploaded models are kept: `s3://bucket/prefix` of S3 or a compatible store. `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` are its credentials, or those that the AWS SDK finds by itself.',
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
    about: '`true` names the bucket in the path of URLs, `false` in their host.',
    shown: '`true` with `SERVICE_S3_ENDPOINT`',
    read: flag,
  }),
  SERVICE_MODEL_CACHE_MB: setting({
    about: 'How much of the disk copies of models from `SERVICE_MODEL_STORE` may take, in units of 1,048,576 bytes.',
    fallback: '16384',
    read: whole(1, 1_073_741_824),
  }),
};
