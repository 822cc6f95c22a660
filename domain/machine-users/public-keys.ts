/**
 * Public keys for which anyone can sign, because the private key follows from the public one, or every signature fits. Libraries
 * accept them: they check only the form of a key.
 */
export type PublicKeyParts =
  | { readonly kind: 'rsa'; readonly modulus: bigint; readonly exponent: bigint }
  /** The 32 bytes as a number, little-endian (RFC 8032). */
  | { readonly kind: 'ed25519'; readonly encoded: bigint }
  | { readonly kind: 'p-256'; readonly x: bigint; readonly y: bigint };

/** Whether a number of thousands of bits is prime. Passed in, because the platform's own test is a hundred times faster. */
export type IsPrime = (number: bigint) => boolean;

/** Why a key must not be trusted, completing "the key …", or null. */
export function publicKeyProblem(key: PublicKeyParts, isPrime: IsPrime): string | null {
  switch (key.kind) {
    case 'rsa':
      return exponentProblem(key.exponent) ?? modulusProblem(key.modulus, isPrime);
    case 'ed25519':
      return ed25519Problem(key.encoded);
    case 'p-256':
      return isOnP256(key.x, key.y) ? null : 'is not a point of its curve';
  }
}

const RSA_BITS_MIN = 2_048;
/** Larger keys make every signature slow to verify without adding security. */
const RSA_BITS_MAX = 8_192;
const EXPONENT_MAX = 2n ** 32n - 1n;

function exponentProblem(exponent: bigint): string | null {
  if (exponent % 2n === 0n) return 'has an even exponent';
  return exponent < 3n || exponent > EXPONENT_MAX ? `must have an exponent from 3 to ${EXPONENT_MAX}` : null;
}

function modulusProblem(modulus: bigint, isPrime: IsPrime): string | null {
  const bits = modulus.toString(2).length;
  if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) return `must have ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits`;
  if (modulus % 2n === 0n) return 'has an even modulus';
  if (smallPrimes().some((prime) => modulus % prime === 0n)) return 'has a modulus with a small factor';
  if (isPower(modulus, bits)) return 'has a modulus that is a power';
  if (hasCloseFactors(modulus)) return 'has a modulus whose factors are close to each other';
  return isPrime(modulus) ? 'has a prime modulus' : null;
}

/** No properly generated key has a factor below this: generators choose primes of half the modulus's length. */
const SMALL_FACTOR_MAX = 10_000;
let primes: readonly bigint[] | undefined;

function smallPrimes(): readonly bigint[] {
  if (primes === undefined) {
    const isComposite = new Uint8Array(SMALL_FACTOR_MAX);
    const found: bigint[] = [];
    for (let number = 3; number < SMALL_FACTOR_MAX; number += 2) {
      if (isComposite[number] === 1) continue;
      found.push(BigInt(number));
      for (let multiple = number * number; multiple < SMALL_FACTOR_MAX; multiple += 2 * number)
        isComposite[multiple] = 1;
    }
    primes = found;
  }
  return primes;
}

/** Whether the modulus is a power. It has no small factors, and squares are found as close factors. */
function isPower(modulus: bigint, bits: number): boolean {
  const exponentMax = BigInt(Math.ceil(bits / Math.log2(SMALL_FACTOR_MAX)));
  const exponents = smallPrimes().filter((exponent) => exponent <= exponentMax);
  return exponents.some(
    (exponent) => mayBePower(modulus, exponent) && rootOf(modulus, exponent) ** exponent === modulus,
  );
}

/** Primes to try: each lets only one in `exponent` of the numbers pass that are not such a power. */
const RESIDUES = 4;

/** Whether the number is a power modulo some small primes, which is much faster to check than its root. */
function mayBePower(modulus: bigint, exponent: bigint): boolean {
  const ofGroup = smallPrimes().filter((prime) => prime % exponent === 1n);
  return ofGroup.slice(0, RESIDUES).every((prime) => power(modulus % prime, (prime - 1n) / exponent, prime) === 1n);
}

/** The largest number whose power is not above `value`, by Newton's method from above. */
function rootOf(value: bigint, exponent: bigint): bigint {
  const bits = BigInt(value.toString(2).length);
  let root = 1n << (bits / exponent + 1n);
  for (;;) {
    const next = ((exponent - 1n) * root + value / root ** (exponent - 1n)) / exponent;
    if (next >= root) return root;
    root = next;
  }
}

/** Rounds of Fermat's method. It finds factors that agree in their first half at once, and random ones never. */
const FERMAT_ROUNDS = 20;

function hasCloseFactors(modulus: bigint): boolean {
  let middle = rootOf(modulus, 2n);
  if (middle * middle < modulus) middle += 1n;
  for (let round = 0; round < FERMAT_ROUNDS; round += 1, middle += 1n) {
    const square = middle * middle - modulus;
    if (square === 0n || rootOf(square, 2n) ** 2n === square) return true;
  }
  return false;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (const digit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (digit === '1') result = (result * base) % modulus;
  }
  return result;
}

/** The field and the curve of Ed25519 (RFC 8032, 5.1). */
const P25519 = 2n ** 255n - 19n;
const D25519 = modulo(-121665n * power(121666n, P25519 - 2n, P25519), P25519);

/** For a point of order 1, 2, 4 or 8 anyone can compute signatures. The cofactor is 8. */
function ed25519Problem(encoded: bigint): string | null {
  const y = encoded & (2n ** 255n - 1n);
  if (y >= P25519) return 'is a point that is not encoded in its canonical form';
  const x = xOfEdwards(y);
  if (x === null) return 'is not a point of its curve';
  let point: EdwardsPoint = { x, y };
  for (let doubling = 0; doubling < 3; doubling += 1) point = doubled(point);
  return point.x === 0n && point.y === 1n ? 'is a point of small order, for which anyone can sign' : null;
}

interface EdwardsPoint {
  readonly x: bigint;
  readonly y: bigint;
}

/** One x of the two points with this y, which have the same order; null if there is none. */
function xOfEdwards(y: bigint): bigint | null {
  const square = modulo((y * y - 1n) * inverse(D25519 * y * y + 1n, P25519), P25519);
  // A square root modulo a prime that is 5 modulo 8.
  let x = power(square, (P25519 + 3n) / 8n, P25519);
  if (modulo(x * x - square, P25519) !== 0n) x = modulo(x * power(2n, (P25519 - 1n) / 4n, P25519), P25519);
  return modulo(x * x - square, P25519) === 0n ? x : null;
}

function doubled({ x, y }: EdwardsPoint): EdwardsPoint {
  const product = modulo(D25519 * x * x * y * y, P25519);
  return {
    x: modulo(2n * x * y * inverse(1n + product, P25519), P25519),
    y: modulo((y * y + x * x) * inverse(1n - product, P25519), P25519),
  };
}

function inverse(value: bigint, modulus: bigint): bigint {
  return power(modulo(value, modulus), modulus - 2n, modulus);
}

function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/** P-256 (FIPS 186-4, D.1.2.3), whose points all have its order. */
const P256 = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B256 = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

function isOnP256(x: bigint, y: bigint): boolean {
  return x < P256 && y < P256 && modulo(y * y - (x * x * x - 3n * x + B256), P256) === 0n;
}
