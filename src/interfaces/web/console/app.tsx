import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Layout } from './layout/layout.js';
import { SignInDialog } from './layout/sign-in-dialog.js';
import { loadOthers, loadPage, pageAt, viewOf } from './page-code.js';
import { can, loadStatus, status } from './shared/account.js';
import { ApiError } from './shared/api.js';
import { Confirmation } from './shared/dialog.js';
import { OutageNote } from './shared/outage-note.js';
import type { Page } from './shared/page.js';
import { link, path } from './shared/router.js';
import { leaveForSignIn, takeSessionOfAnotherTab, token } from './shared/session.js';
import { Empty, ErrorNote, Loading } from './shared/states.js';
import { Toasts } from './shared/toasts.js';

/** The pages that need no session, by the last part of their address. */
const entries: Readonly<Record<string, () => Promise<ComponentType>>> = {
  auth: async () => (await import('./entry/sign-in.js')).SignIn,
  'verify-email': async () => (await import('./entry/verify-email.js')).VerifyEmail,
  'reset-password': async () => (await import('./entry/reset-password.js')).ResetPassword,
};

/** Returns what the address shows: one of the `entries`, or the console. */
export async function loadApp(): Promise<ComponentType> {
  const entry = entries[location.pathname.split('/').at(-1) ?? ''];
  return entry ? entry().catch(() => NotLoaded) : Console;
}

/** The code of a page cannot be loaded. After an update of the service, only a new start knows the names of the files. */
function NotLoaded() {
  const error = new ApiError(0, 'not_loaded', 'This page could not be loaded. Load the console again.');
  return <ErrorNote error={error} onRetry={() => location.reload()} />;
}

/** Loads the signed-in account, then shows the page of the address. Without a session, goes to `/auth`. */
function Console() {
  const [error, setError] = useState<ApiError>();
  const start = async () => {
    setError(undefined);
    if (!token.value && !(await takeSessionOfAnotherTab())) return leaveForSignIn();
    await loadStatus().catch((reason) => setError(reason as ApiError));
  };
  useEffect(() => {
    void start();
    // The back button may show a page from before the sign-out.
    addEventListener('pageshow', ({ persisted }) => persisted && !token.value && leaveForSignIn());
  }, []);
  return (
    <>
      {status.value ? (
        <OpenPage />
      ) : error ? (
        <ErrorNote error={error} onRetry={start} />
      ) : (
        <>
          <OutageNote />
          <Loading what="your account" />
        </>
      )}
      <SignInDialog />
      <Confirmation />
      <Toasts />
    </>
  );
}

function OpenPage() {
  const found = pageAt(path.value);
  const allowed = found && (!found.page.needs || can(found.page.needs));
  const title = allowed ? found.page.title : 'Not found';
  useEffect(() => {
    document.title = `${title} · Tenon`;
  }, [title]);
  if (!allowed) {
    return (
      <Layout>
        <Empty icon="search" title={found ? 'Your role does not allow this page' : 'There is no such page'}>
          <a class="button" href={link('/')}>
            Go to the overview
          </a>
        </Empty>
      </Layout>
    );
  }
  return (
    <Layout>
      <LoadedPage key={found.page.path} page={found.page} parameters={found.parameters} />
    </Layout>
  );
}

/** Shows a page when its code is loaded. If the page throws while it is drawn, shows an error beside the menu. */
function LoadedPage({ page, parameters }: { page: Page; parameters: Readonly<Record<string, string>> }) {
  const [broken, again] = useErrorBoundary();
  const [failure, setFailure] = useState<Error>();
  const [, draw] = useState(0);
  const Content = viewOf(page);
  useEffect(() => {
    if (Content) void loadOthers();
    else loadPage(page).then(() => draw((count) => count + 1), setFailure);
  }, [page, Content]);
  if (broken !== undefined) {
    const reason = (broken as Error).message ?? broken;
    return <ErrorNote error={new ApiError(0, 'broken', `This page could not be drawn: ${reason}`)} onRetry={again} />;
  }
  if (Content) return <Content parameters={parameters} />;
  return failure ? <NotLoaded /> : <Loading what="the page" />;
}
