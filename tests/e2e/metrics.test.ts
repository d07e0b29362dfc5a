import { ClockedApp } from '../support/clocked-app.js';
import { masterKey } from '../support/monitoring.js';

describe('GET /metrics', () => {
  let app: ClockedApp;
  beforeAll(async () => {
    app = await ClockedApp.start({ SERVICE_MASTER_KEY: masterKey });
  });
  afterAll(() => app.stop());

  it('tells the master key, in the format of Prometheus, of all that runs', async () => {
    const { status, headers, body } = await app.get('/metrics', masterKey);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    for (const line of [
      'tenon_database_up 1',
      'tenon_outbox_mails 0',
      'tenon_outbox_failed_mails 0',
      'tenon_outbox_oldest_mail_age_seconds 0',
      'tenon_queue_waiting_tasks 0',
      'tenon_queue_running_tasks 0',
      'tenon_queue_failed_tasks 0',
      'tenon_database_pool_waiting_requests 0',
      'tenon_password_hashing_running 0',
      'tenon_password_hashing_refusals_total 0',
      'tenon_deployments{status="running"} 0',
      'tenon_chat_runtimes{state="ready"} 0',
      'tenon_rate_limit_refusals_total{limit="default"} 0',
    ]) {
      expect(body.split('\n')).toContain(line);
    }
    expect(body).toMatch(/^tenon_database_pool_connections [1-9]/m);
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(body).toMatch(/^process_resident_memory_bytes /m);
    const named = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
    expect(named.filter(([name, type]) => type === 'counter' && !name?.endsWith('_total'))).toEqual([]);
  });
});
