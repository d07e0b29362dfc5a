import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Layout } from './layout/layout.js';
import { SignInDialog } from './layout/sign-in-dialog.js';
import { pages } from './pages.js';
import { can, loadStatus, status } from './shared/account.js';
import { ApiError } from './shared/api.js';
import { Confirmation } from './shared/dialog.js';
import { OutageNote } from './shared/outage-note.js';
import type { Page } from './shared/page.js';
import { link, match, path } from './shared/router.js';
import { leaveForSignIn, takeSessionOfAnotherTab, token } from './shared/session.js';
import { Empty, ErrorNote, Loading } from './shared/states.js';
import { Toasts } from './shared/toasts.js';

/** Loads the signed-in account, then shows the page of the address. Without a session, goes to `/auth`. */
export function App() {
  const [error, setError] = useState<ApiError>();
  const start = async () => {
    setError(undefined);
    if (!token.value && !(await takeSessionOfAnotherTab())) return leaveForSignIn();
    await loadStatus().catch((reason) => setError(reason as ApiError));
  };
  useEffect(() => void start(), []);
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
  const found = pages
    .map((page) => ({ page, parameters: match(page.path, path.value) }))
    .find(({ parameters }) => parameters !== null);
  const allowed = found && (!found.page.needs || can(found.page.needs));
  const title = allowed ? found.page.title : 'Not found';
  useEffect(() => {
    document.title = `${title} · Tenon`;
  }, [title]);
  if (!allowed || !found.parameters) {
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
      <View key={found.page.path} page={found.page} parameters={found.parameters} />
    </Layout>
  );
}

/** Shows a page. If the page throws while it is drawn, shows an error beside the menu. */
function View({ page: { view: Content }, parameters }: { page: Page; parameters: Readonly<Record<string, string>> }) {
  const [broken, again] = useErrorBoundary();
  if (broken === undefined) return <Content parameters={parameters} />;
  const error = new ApiError(0, 'broken', `This page could not be drawn: ${(broken as Error).message ?? broken}`);
  return <ErrorNote error={error} onRetry={again} />;
}
