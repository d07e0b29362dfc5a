import { setting, whole } from './setting.js';

const mebibytes = whole(1, 1_073_741_824);

/** The limits of what is stored and of connections. Their defaults are more than most services ever need. */
export const quotaSettings = {
  SERVICE_QUOTA_PROJECTS: setting({
    about:
      'The projects that a team may store. This and the other quotas refuse further ones with 422 `quota_exceeded`.',
    fallback: '5000',
    read: whole(1, 1_000_000),
  }),
  SERVICE_QUOTA_WORKSPACE_MB: setting({
    about:
      'What a team may store as specs of projects and models and as records of datasets, with all stored versions, in units of 1,048,576 bytes.',
    fallback: '10240',
    read: mebibytes,
  }),
  SERVICE_QUOTA_CONVERSATIONS_MB: setting({
    about: 'What an account may store as messages of conversations, in units of 1,048,576 bytes.',
    fallback: '1024',
    read: mebibytes,
  }),
  SERVICE_QUOTA_RESPONSES_MB: setting({
    about: 'What an account may store as responses of `/openai/v1/responses`, in units of 1,048,576 bytes.',
    fallback: '1024',
    read: mebibytes,
  }),
  SERVICE_QUOTA_EXTERNAL_JOBS: setting({
    about: 'The jobs of the kind `external` that a team may store. They are kept for ever.',
    fallback: '100000',
    read: whole(1, 10_000_000),
  }),
  SERVICE_QUOTA_UPLOADS_MB: setting({
    about: 'What the whole service may store as uploaded model files, in units of 1,048,576 bytes.',
    fallback: '102400',
    read: mebibytes,
  }),
  SERVICE_MAX_CONNECTIONS: setting({
    about:
      'The connections that an instance accepts at the same time. An address may have a quarter of them, except a proxy in `SERVICE_TRUST_PROXY`. The instance closes further ones without an answer, and logs how many.',
    fallback: '4096',
    read: whole(16, 1_000_000),
  }),
};
