import { goPrograms } from '../../dev/servers/go-programs.ts';

/** Path of oasdiff, which compares OpenAPI documents: cached, or built with Go. */
export async function oasdiff(onProgress: (line: string) => void = () => {}): Promise<string> {
  const pathOf = await goPrograms(
    {
      title: 'comparison of OpenAPI documents',
      neededFor: 'the test of the interface against the last release',
      version: '1.35.0',
      packages: { oasdiff: 'github.com/oasdiff/oasdiff' },
    },
    onProgress,
  );
  return pathOf('oasdiff');
}
