/** The service: `npm start`. */
require('./bundle.cjs').loadBundle().programs.service();
