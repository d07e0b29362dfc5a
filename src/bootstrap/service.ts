import { type App, startApp } from './app.js';
import { loadConfigFromProcess } from './config/config.js';

/** The service as its environment sets it. */
export async function startService(stopping: AbortSignal): Promise<App> {
  return startApp(loadConfigFromProcess(), { stopping });
}
