import { z } from 'zod';
import { InstantSchema } from './envelope.js';
import { RoomNameSchema, SubjectSchema, TenantSchema } from './text.js';

export const ACCESS_SCOPES = ['ask', 'answer', 'audit', 'webhooks', 'admin'] as const;
export const AccessScopeSchema = z.enum(ACCESS_SCOPES);
export const DEFAULT_TENANT = 'default';

/** Body of `POST /v1/keys`. */
export const CreateKeyBodySchema = z
  .strictObject({
    subject: SubjectSchema,
    scopes: z
      .array(AccessScopeSchema)
      .min(1, 'must name at least one scope')
      .transform((scopes) => [...new Set(scopes)]),
    tenant: TenantSchema.optional(),
  })
  .meta({ id: 'CreateKey' });

export const KeySchema = z
  .strictObject({
    id: z.uuid(),
    subject: z.string(),
    scopes: z.array(AccessScopeSchema),
    tenant: z.string(),
    createdAt: InstantSchema,
  })
  .meta({ id: 'Key' });

/** The only response that ever shows the key itself. */
export const CreatedKeySchema = KeySchema.omit({ createdAt: true })
  .extend({ key: z.string() })
  .meta({ id: 'CreatedKey' });

export const KeyListSchema = z.strictObject({ data: z.array(KeySchema) });

export const RoomSchema = z
  .strictObject({ room: RoomNameSchema, members: z.array(z.string()) })
  .meta({ id: 'Room' });

/** Who is calling. It comes from authentication, never from a body. */
export interface Principal {
  readonly tenant: string;
  readonly subject: string;
  readonly scopes: ReadonlySet<AccessScope>;
}

export type AccessScope = z.infer<typeof AccessScopeSchema>;
export type CreateKeyBody = z.infer<typeof CreateKeyBodySchema>;
export type Key = z.infer<typeof KeySchema>;
export type Room = z.infer<typeof RoomSchema>;
