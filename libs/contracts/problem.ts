import { z } from 'zod';

export const FieldErrorSchema = z.strictObject({ path: z.string(), message: z.string() });

/** Problem details of RFC 9457, with `code` for programs and `errors` for forms. */
export const ProblemSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    errors: z.array(FieldErrorSchema).optional(),
  })
  .meta({ id: 'Problem' });

export type FieldError = z.infer<typeof FieldErrorSchema>;
export type ProblemBody = z.infer<typeof ProblemSchema>;
