export function operate(command: string): string {
  return `npm run -s operate -- ${command}`;
}
