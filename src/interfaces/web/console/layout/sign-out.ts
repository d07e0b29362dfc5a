import { answer, api } from '../shared/api.js';
import { forgetSession, leaveForSignIn } from '../shared/session.js';

export async function signOut(): Promise<void> {
  await answer(api.POST('/v1/auth/logout')).catch(() => {}); // The session may have ended already.
  forgetSession();
  leaveForSignIn();
}
