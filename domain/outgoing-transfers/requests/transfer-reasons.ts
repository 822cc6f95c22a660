import { asId, type TransferReasonId } from '../../common/ids.ts';

/** The purpose of a payment, from a list kept by the destination country's regulator (specification 2.13). */
export interface TransferReason {
  readonly id: TransferReasonId;
  readonly country: string;
  /** The regulator's code, sent to the bank with the payment. */
  readonly code: string;
  readonly description: string;
}

/** Codes on which scheme attributes depend (specification 4.9). */
export const TRADE_IN_SERVICES = 'CSTRDR';
export const TRADE_IN_GOODS = 'CGODDR';

// The ids are part of the interface: callers store them, so they never change.
const SEED: Readonly<Record<string, readonly (readonly [id: string, code: string, description: string])[]>> = {
  AE: [
    ['7395e134-ce11-502f-98e0-e4a6de9fa341', 'FAM', 'Family Support'],
    ['bb4c771e-c089-5006-a96c-3a02c45ef9fe', 'SAL', 'Salary and Compensation'],
    ['b4cdb0d9-6ecc-50c7-becb-51318264321a', 'GDE', 'Goods Bought or Sold'],
    ['6fc99a37-7eaa-51d6-a60d-20c6610be20a', 'TCS', 'Telecommunication, Computer and Information Services'],
    ['730ef8fa-0de2-540f-993a-8f4634499f5d', 'PMS', 'Professional and Management Consulting Services'],
    ['69796f35-330b-505d-9b58-2dcfb24e47d3', 'STS', 'Transport Services'],
    ['14a13371-c793-5e3b-b42f-28c226c64572', 'EDU', 'Educational Support'],
    ['ed872226-6837-5e22-8866-930aa662dbdb', 'PRP', 'Purchase of Real Estate'],
  ],
  BH: [
    ['ef6a7aae-df54-51fb-a6b5-73326c79eedb', 'FAM', 'Family Support'],
    ['6e8af3d7-d5dd-594c-ad42-819cd9962a4a', 'SAL', 'Salary and Compensation'],
    ['9be3d8eb-70b0-5608-af24-31865743eb5c', 'GDE', 'Goods Bought or Sold'],
    ['68ced0f2-7231-5c55-83a4-1f4a984a4104', 'OTS', 'Other Services'],
  ],
  CN: [
    ['22a44cc8-b2c6-555a-87be-ad49f61e0340', 'CGODDR', 'Trade Settlement for Goods'],
    ['392b51a2-4e13-5e6e-b107-85fc02c9ec48', 'CSTRDR', 'Trade Settlement for Services'],
    ['560252ff-9115-5899-8638-18cefc1934fe', 'COCADR', 'Other Current Account Transactions'],
    ['423e0e2f-8716-5190-838a-cbba2e1f8951', 'CCTFDR', 'Capital Account Transfer'],
    ['fcbb2b52-0d03-5b93-b3e8-ba1bd64fa404', 'CCDNDR', 'Charity Donation'],
  ],
  IN: [
    ['21767501-f971-5b94-a1d0-01f69a8a9123', 'P0102', 'Realisation of Export Bills for Goods'],
    ['6c371cad-9ab7-524b-9878-33d1d37861cf', 'P0103', 'Advance Receipts against Exports of Goods'],
    ['ca843154-ffdd-5e19-8db2-cfc8629f4d34', 'P0802', 'Software Consultancy and Implementation'],
    ['0e335bb2-6f42-5d35-90b8-537c11ac3012', 'P0807', 'Off-site Software Exports'],
    ['f5ccb1cf-2eb6-5dac-828b-ecb8bdba4358', 'P1006', 'Business and Management Consultancy'],
    ['e36d54f7-1ee6-5228-b3f5-3a468f2e3065', 'P1007', 'Advertising, Trade Fair and Market Research Services'],
    ['5e06a0da-e0a6-59cd-a4f8-c88bab631792', 'P1301', 'Family Maintenance and Savings'],
    ['5392f1c8-ba20-5d39-b224-49ae8d56bd18', 'P1302', 'Personal Gifts and Donations'],
    ['b901c8db-a67e-52c9-b18a-900d7e34e4e4', 'P1401', 'Compensation of Employees'],
    ['e2359087-4899-5fc3-8470-854a90e94905', 'P0005', 'Foreign Direct Investment in Equity'],
  ],
  JO: [
    ['50847a84-765f-5c0d-8428-dc493695ff84', '0101', 'Invoice Payment and Purchase'],
    ['a08675d6-b97f-5cda-9b00-e93156272995', '0105', 'Family Assistance'],
    ['ffd00909-e7c3-5764-961c-cfee39be6d38', '0112', 'Salary Payment'],
    ['53596360-012c-58c5-beea-c6b258198277', '0203', 'Services Payment'],
  ],
  KR: [
    ['5d3f2020-3039-5525-9826-9e4191cbc891', 'GOODS', 'Payment for Goods'],
    ['07e23754-b4dc-57c5-b6a2-a576b997eb26', 'SERVICES', 'Payment for Services'],
    ['5b9a26e4-82dc-586e-8f07-1d09fa0f63df', 'SALARY', 'Salary and Compensation'],
    ['e590b24b-b0a7-53e5-a801-4eca1981cce2', 'FAMILY', 'Family Support'],
    ['123c8ea4-ad9c-5c8d-8457-1b9502c86442', 'INVESTMENT', 'Investment'],
  ],
  MY: [
    ['9dd49669-8fb9-5655-9e6d-8bd658f5b091', '10010', 'Payment for Goods'],
    ['4adb4772-634a-57b8-bb7f-d3123e963fda', '12130', 'Computer and Information Services'],
    ['6d435221-06ff-5e73-920e-4a3d491dcf45', '16120', 'Business and Management Consultancy Services'],
    ['ada2175e-9b72-52ea-9628-a1afd00dd153', '21110', 'Compensation of Employees'],
    ['d7b95c8d-9068-586d-9530-99b8e9308358', '22110', "Workers' Remittances and Family Support"],
  ],
  PH: [
    ['e3893e8c-5511-5a82-aba2-e509186c50b1', 'SUPP', 'Supplier Payment'],
    ['c938a57e-91d5-52f8-b204-8cc97ee7ba0b', 'SALA', 'Salary Payment'],
    ['ecfe493b-bb02-5686-8557-534d04e35c46', 'FAMI', 'Family Support'],
    ['98b37f64-2898-5f4c-8174-bed7a33ad15d', 'SERV', 'Payment for Services'],
  ],
};

const REASONS: ReadonlyMap<string, readonly TransferReason[]> = new Map(
  Object.entries(SEED).map(([country, reasons]) => [
    country,
    reasons.map(([id, code, description]) => ({ id: asId<TransferReasonId>(id), country, code, description })),
  ]),
);

const REASON_BY_ID: ReadonlyMap<string, TransferReason> = new Map(
  [...REASONS.values()].flat().map((reason) => [reason.id, reason]),
);

/** A country's reasons in a stable order; empty if it requires none. */
export function transferReasons(country: string): readonly TransferReason[] {
  return REASONS.get(country) ?? [];
}

export function findTransferReason(id: string): TransferReason | null {
  return REASON_BY_ID.get(id) ?? null;
}
