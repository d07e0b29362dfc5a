import { render } from 'preact';
import './start.js';
import { loadApp } from './app.js';

const App = await loadApp();
render(<App />, document.getElementById('console') as HTMLElement);
