import type { RouteDeclaration } from './route.js';

/** The routes that were registered, as they were declared. */
export class RouteTable {
  readonly #routes = new Set<RouteDeclaration>();

  add(route: RouteDeclaration | undefined): void {
    if (route !== undefined) this.#routes.add(route);
  }

  get all(): readonly RouteDeclaration[] {
    return [...this.#routes];
  }

  /** The methods that a path takes; none when no route matches it. */
  methodsOf(path: string): readonly string[] {
    const matching = this.all.filter((route) => matches(route.path, path));
    const literal = matching.filter((route) => !route.path.includes(':'));
    const methods = (literal.length > 0 ? literal : matching).map((route) => route.method);
    return [...new Set(methods)];
  }
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return false;
  return expected.every(
    (part, index) => part === given[index] || (part.startsWith(':') && given[index] !== ''),
  );
}
