/** What an idempotency key remembers of a response: enough to make it again. */
export interface Remembered {
  readonly id: string;
  readonly version: number;
  readonly applied: boolean;
}

export function rememberedText(remembered: Remembered): string {
  return JSON.stringify(remembered);
}

export function rememberedOf(text: string): Remembered {
  return JSON.parse(text) as Remembered;
}
