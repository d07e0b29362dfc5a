import { runProgram } from './bootstrap/cli/program.js';

runProgram(['start']);
