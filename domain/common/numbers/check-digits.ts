/** Check digits: ISO 7064 mod 97-10 (IBANs and our own numbers) and the weighted sums of national bank codes. */

/** The remainder of a long decimal number by 97, digit by digit. */
export function remainder97(digits: string): number {
  let remainder = 0;
  for (const digit of digits) remainder = (remainder * 10 + Number(digit)) % 97;
  return remainder;
}

/** Two digits that, appended to `digits`, make the number leave remainder 1 modulo 97. */
export function checkDigits97(digits: string): string {
  return String(98 - remainder97(`${digits}00`)).padStart(2, '0');
}

/** The sum of digit × weight, with repeating weights. */
export function weightedSum(digits: string, weights: readonly number[], term = (product: number) => product): number {
  let sum = 0;
  for (const [index, digit] of [...digits].entries()) {
    sum += term(Number(digit) * (weights[index % weights.length] ?? 0));
  }
  return sum;
}
