/** The bundler collects style sheets that scripts import. */
declare module '*.css';
