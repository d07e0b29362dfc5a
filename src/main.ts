import { runProgram } from './bootstrap/cli/command-line.js';

runProgram(['start']);
