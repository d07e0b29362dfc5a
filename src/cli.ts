import { runProgram } from './bootstrap/cli/program.js';

runProgram(process.argv.slice(2));
