/** Finds the source of a module of ours, which imports name by the compiled file: `./x.js` is `./x.ts` or `./x.tsx`. */
module.exports = (request, options) => {
  const ours = request.startsWith('.') && !options.basedir.includes('/node_modules/');
  return options.defaultResolver(ours ? request.replace(/\.js$/, '') : request, options);
};
