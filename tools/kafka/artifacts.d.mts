export function missing(): Promise<string | undefined>;
export function kafkaJars(): Promise<string>;
