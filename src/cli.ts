import './bootstrap/node-version.js';
import { runProgram } from './bootstrap/cli/command-line.js';

runProgram(process.argv.slice(2));
