/** ISO 3166-1 alpha-2 codes with Kosovo’s XK, and the ISO 3166-2 subdivisions of the three countries whose addresses require one. */
declare const brand: unique symbol;

export type Country = string & { readonly [brand]: 'Country' };

/** XK is not assigned by ISO: Kosovo’s banks, their IBANs and BICs and the European Union use it. */
const COUNTRY_CODES = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA
   CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA
   GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
   KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS
   MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS
   RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW
   TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/),
);

/** The ISO 3166-2 code after the dash: two letters for the United States and Canada, three for Mexico. */
const REGION_CODES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    US: `AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK
         OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR UM VI`,
    CA: 'AB BC MB NB NL NS NT NU ON PE QC SK YT',
    MX: `AGU BCN BCS CAM CHH CHP CMX COA COL DUR GRO GUA HID JAL MEX MIC MOR NAY NLE OAX PUE QUE ROO SIN SLP SON TAB
         TAM TLA VER YUC ZAC`,
  }).map(([country, codes]) => [country, new Set(codes.split(/\s+/))] as const),
);

export const COUNTRIES: readonly Country[] = [...COUNTRY_CODES].sort().filter(isCountry);

export function isCountry(text: string): text is Country {
  return COUNTRY_CODES.has(text);
}

/** Whether an address must name a subdivision by its code (specification 2.1). */
export function requiresRegionCode(country: string): boolean {
  return REGION_CODES.has(country);
}

/** True for any text if the country requires no code. */
export function isRegionOf(country: string, region: string): boolean {
  return REGION_CODES.get(country)?.has(region) ?? true;
}

/** The country's subdivision codes, empty if it requires none. */
export function regionCodes(country: string): readonly string[] {
  return [...(REGION_CODES.get(country) ?? [])];
}
