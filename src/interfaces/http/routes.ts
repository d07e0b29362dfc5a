import { type RequestHandler, Router } from 'express';
import type { Contract, Controller } from './contract.js';
import { authorizeCaller } from './middleware/authenticate.js';
import { type ErrorHandlerDependencies, reportedProblem } from './middleware/error-handler.js';
import { type ReadBodyDependencies, readBody } from './middleware/read-body.js';
import { handle, type ReportProblem, respond } from './middleware/respond.js';
import { existenceFirst, type ValidateDependencies, validate } from './middleware/validate.js';
import { methodNotAllowed } from './refusals.js';

/** Creates an Express route for each contract. The order of the steps decides which refusal a caller gets first. */
export function contractRoutes(
  controllers: readonly Controller[],
  dependencies: ReadBodyDependencies & ValidateDependencies & ErrorHandlerDependencies,
): RequestHandler {
  const report: ReportProblem = (error, response) => reportedProblem(error, response, dependencies);
  const routers = new Map<string, Router>();
  const routes = controllers.flatMap(({ routes, exists = {} }) => routes.map((route) => ({ ...route, exists })));
  // In this order `/a/b` comes before `/a/{id}`: a brace sorts after every letter.
  const paths = [...new Set(routes.map(({ contract }) => contract.path))].sort();
  for (const path of paths) {
    const router = routers.get(areaOf(path)) ?? Router({ caseSensitive: true, strict: true });
    routers.set(areaOf(path), router);
    const routesOfPath = routes.filter(({ contract }) => contract.path === path);
    const expressRoute = router.route(expressPath(path)).all((request, _response, next) => {
      request.context.route = path;
      next();
    });
    for (const route of routesOfPath) {
      const { contract, before, exists } = route;
      const lastId = [...path.matchAll(/\{(\w+_id)\}/g)].at(-1)?.[1] ?? '';
      expressRoute[contract.method](
        authorizeCaller(contract),
        ...(before ? [refuseEarly(before)] : []),
        ...(contract.body ? [readBody(contract, dependencies)] : []),
        validate(contract, dependencies),
        handle(route),
        respond(contract, report),
        existenceFirst(exists[lastId]),
      );
    }
    expressRoute.all(() => {
      throw methodNotAllowed(routesOfPath.flatMap(({ contract }) => methodsOf(contract)));
    });
  }
  return (request, response, next) => {
    const router = routers.get(areaOf(request.path));
    if (router) router(request, response, next);
    else next();
  };
}

/**
 * Returns the first two parts of a path, such as `/v1/projects`. They contain no parameters. Each area has a router,
 * because a router tries its routes one after another.
 */
const areaOf = (path: string): string => path.split('/', 3).join('/');

/** Refuses a request before its body is read. */
const refuseEarly =
  (before: () => Promise<unknown>): RequestHandler =>
  async (_request, _response, next) => {
    await before();
    next();
  };

/** Writes `{id}` as `:id`, and `{path*}` as `*path`, which takes the rest of the path. */
const expressPath = (path: string): string => path.replace(/\{(\w+)\*\}/g, '*$1').replace(/\{(\w+)\}/g, ':$1');

const methodsOf = ({ method }: Contract) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]);
