import * as v from 'valibot';

const FileReport = v.object({ path: v.string(), seconds: v.number(), passed: v.number() });

/** What a run of vitest leaves for the command that started it. */
export const RunReport = v.object({
  passed: v.number(),
  failed: v.number(),
  /** In words, as they were printed. */
  failures: v.array(v.string()),
  files: v.array(FileReport),
});

export type FileReport = v.InferOutput<typeof FileReport>;
export type RunReport = v.InferOutput<typeof RunReport>;
