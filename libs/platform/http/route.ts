import { applyDecorators, HttpCode, RequestMapping, RequestMethod, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { AccessScope, FieldError, Principal } from '#contracts';

/** Who may call: everybody, any principal, or one that has at least one of the scopes. */
export type Access = 'public' | 'any' | readonly AccessScope[];

/** What a route answers with: a schema of JSON, or the media types of anything else. */
export type Answers = z.ZodType | { readonly media: readonly string[] } | null;

/** The one declaration of a route: its hooks, its documentation and its test all read it. */
export interface RouteDeclaration {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As Fastify writes it: `/v1/questions/:id`. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** A body that breaks its schema is not refused at once: the handler judges it after what comes first. */
  readonly judgesBody?: boolean;
  /** What the path names is made when it is not there: a name that nothing can have is refused as such, and not as unknown. */
  readonly makes?: boolean;
  /** By status; the first is what the handler's result is sent with. */
  readonly answers: Readonly<Record<number, Answers>>;
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** A request that has passed authentication and its route's schemas. */
export interface RequestOf<Route extends RouteDeclaration> extends FastifyRequest {
  principal: Principal;
  input: {
    readonly params: Output<Route['params']>;
    readonly query: Output<Route['query']>;
    readonly body: Output<Route['body']>;
    /** What is wrong with the body, on a route that judges it itself. */
    readonly bodyErrors: readonly FieldError[] | undefined;
  };
  /** The client's Idempotency-Key, where it sent one. */
  idempotencyKey: string | undefined;
}

export const ROUTE = 'settled:route';

/** Binds a handler to its declaration. */
export function Handles(route: RouteDeclaration): MethodDecorator {
  return applyDecorators(
    RequestMapping({ method: RequestMethod[route.method], path: route.path }),
    HttpCode(Number(Object.keys(route.answers)[0])),
    SetMetadata(ROUTE, route),
    RouteConfig({ route }),
  );
}

/** Keeps the literal types of a declaration, for `RequestOf`. */
export function route<const Declared extends RouteDeclaration>(declared: Declared): Declared {
  return declared;
}
