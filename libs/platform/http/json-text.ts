/** JSON that is serialised already. */
export class JsonText {
  constructor(readonly text: string) {}
}

export function serialise(payload: unknown): string {
  return payload instanceof JsonText ? payload.text : JSON.stringify(payload);
}
