import type { Problem } from '../errors.ts';
import { isCountry, isRegionOf, requiresRegionCode } from './countries.ts';

/** Specification 2.1. PATCH replaces an address whole. */
export interface Address {
  readonly country: string;
  readonly region: string | null;
  readonly city: string | null;
  readonly street: string | null;
  readonly houseNumber: string | null;
  readonly postalCode: string | null;
  readonly refinement: string | null;
}

/**
 * Requires the country, and the region where banks want its code (US, CA, MX). `entity` and `field` locate the address in
 * the request for message parameters.
 */
export function checkAddress(
  address: { readonly country: string; readonly region?: string | null | undefined },
  place: { readonly entity: string; readonly field: string },
): Problem[] {
  const { country, region } = address;
  if (!isCountry(country)) {
    return [invalid(place, 'country', country, 'The country must be an ISO 3166-1 alpha-2 code.')];
  }
  if (!requiresRegionCode(country)) return [];
  if (region === undefined || region === null || region === '') {
    return [
      {
        code: 'common.validation.field_required',
        message: `An address in ${country} requires the ISO 3166-2 code of its region.`,
        messageParameters: [place.entity, `${place.field}.region`, ''],
      },
    ];
  }
  if (isRegionOf(country, region)) return [];
  return [
    invalid(place, 'region', region, `The region must be an ISO 3166-2 code of ${country}, without the country.`),
  ];
}

function invalid(
  place: { readonly entity: string; readonly field: string },
  field: string,
  value: string,
  message: string,
): Problem {
  return {
    code: 'common.validation.field_invalid',
    message,
    messageParameters: [place.entity, `${place.field}.${field}`, value],
  };
}
