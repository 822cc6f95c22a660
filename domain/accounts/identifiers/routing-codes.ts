/** By kind, such as `sort-code` and `bic` (specification 2.1). */
export type RoutingCodes = Readonly<Record<string, string>>;

/** Routing codes as shown: none are null, even if a row or a caller has an empty map. */
export function presentRoutingCodes(codes: RoutingCodes | null): RoutingCodes | null {
  return codes === null || Object.keys(codes).length === 0 ? null : codes;
}
