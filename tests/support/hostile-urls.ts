/** A pattern in `SERVICE_RUNTIME_ALLOWED_HOSTS`. */
export const PATTERN = '*.models.svc.cluster.local';

/** URLs that look as if `PATTERN` allowed them. It does not. */
export const HOSTILE_URLS = [
  // the name itself, and names that only contain it
  'http://models.svc.cluster.local',
  'http://evilmodels.svc.cluster.local',
  'http://vllm.models.svc.cluster.local.evil.example',
  'http://vllm.models.svc.cluster.localx',
  'http://vllm-models.svc.cluster.local',
  'http://kubernetes.default.svc.cluster.local',
  'http://vllm.models.svc',
  'http://vllm',
  // labels that no host has
  'http://.models.svc.cluster.local',
  'http://a..models.svc.cluster.local',
  'http://*.models.svc.cluster.local',
  'http://a_b.models.svc.cluster.local',
  'http://vllm.models.svc.cluster.local.',
  // the name in other parts of the URL
  'http://evil.example/.models.svc.cluster.local',
  'http://evil.example\\.models.svc.cluster.local',
  'http://evil.example?.models.svc.cluster.local',
  'http://evil.example#.models.svc.cluster.local',
  'http://vllm.models.svc.cluster.local@evil.example',
  'http://vllm.models.svc.cluster.local:8000@evil.example',
  'http://evil.example%2f.models.svc.cluster.local',
  'http://evil.example%00.models.svc.cluster.local',
  // credentials, addresses and other schemes
  'http://user:password@vllm.models.svc.cluster.local',
  'http://10.0.0.7',
  'http://0x7f.1',
  'http://[::1]',
  'http://[::1].models.svc.cluster.local',
  'file://vllm.models.svc.cluster.local/etc/passwd',
  'ftp://vllm.models.svc.cluster.local',
  '//vllm.models.svc.cluster.local',
];
