/** Exit code 1 where `npm start` has to build first. */
process.exitCode = Number(!require('../bin/bundle.cjs').isCurrent());
