import './bootstrap/node-version.js';
import { runProgram } from './bootstrap/cli/command-line.js';

runProgram(['start']);
