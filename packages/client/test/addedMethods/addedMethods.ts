/** What the copy of the document gets: a prefixed method about EVM chains and one about Solana without a prefix. */
export const addedMethods = [
  {
    name: 'svc_getApprovals',
    summary: 'Allowances that an EVM account gave.',
    description: 'One entry for each token and spender.',
    paramStructure: 'by-position',
    params: [
      { $ref: '#/components/contentDescriptors/EvmAccount' },
      {
        name: 'options',
        summary: 'Which of them.',
        required: false,
        schema: { $ref: '#/components/schemas/ApprovalOptions' }
      }
    ],
    'x-params-schema': { $ref: '#/components/schemas/ApprovalsParams' },
    result: { name: 'approvals', required: true, schema: { $ref: '#/components/schemas/Approvals' } },
    errors: [{ $ref: '#/components/errors/INVALID_PARAMS' }, { $ref: '#/components/errors/NOT_SYNCED' }],
    examples: [
      {
        name: 'One allowance',
        'x-chainId': 1,
        params: [
          { name: 'address', value: '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516' },
          { name: 'options', value: { limit: 1 } }
        ],
        result: {
          name: 'approvals',
          value: [{ spender: '0x000000000022D473030F116dDEE9F6B43aC78BA3', amount: '5', nonce: 7 }]
        }
      }
    ],
    'x-endpoint': '/evm-chain',
    'x-prefixed': true,
    'x-response-chainId': 'absent',
    'x-extension': true
  },
  {
    name: 'getStake',
    summary: 'Stake of a Solana account.',
    description: 'The sum over its stake accounts.',
    paramStructure: 'by-position',
    params: [
      {
        name: 'account',
        'x-arguments': ['stakeAuthority', 'address'],
        summary: 'The authority of the stake accounts.',
        required: true,
        schema: { $ref: '#/components/schemas/SolanaAddress' }
      }
    ],
    'x-params-schema': { $ref: '#/components/schemas/StakeParams' },
    result: { name: 'stake', required: true, schema: { $ref: '#/components/schemas/Stake' } },
    errors: [{ $ref: '#/components/errors/INVALID_PARAMS' }],
    examples: [
      {
        name: 'A stake',
        'x-chainId': 101,
        params: [{ name: 'account', value: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2' }],
        result: { name: 'stake', value: { lamports: 12, lamportsString: '12' } }
      }
    ],
    'x-endpoint': '/solana',
    'x-prefixed': false,
    'x-response-chainId': 'echo'
  }
]

const uint64 = { type: 'integer', minimum: 0, maximum: 18_446_744_073_709_552_000, 'x-int64': true }

/** The schemas that these methods speak of. */
export const addedSchemas = {
  ApprovalOptions: {
    title: 'Approval options',
    description: 'Options of svc_getApprovals.',
    type: 'object',
    additionalProperties: false,
    properties: {
      limit: { title: 'Limit', description: 'Most entries.', type: 'integer', minimum: 1 },
      spender: {
        $ref: '#/components/schemas/EvmAddress',
        description: 'Only allowances of this spender.'
      }
    }
  },
  ApprovalsParams: {
    title: 'Parameters of svc_getApprovals',
    description: '`[address]` or `[address, options]`.',
    type: 'array',
    minItems: 1,
    maxItems: 2,
    additionalItems: false,
    items: [{ $ref: '#/components/schemas/EvmAddress' }, { $ref: '#/components/schemas/ApprovalOptions' }]
  },
  Approval: {
    title: 'Approval',
    description: 'One allowance.',
    type: 'object',
    additionalProperties: false,
    required: ['spender', 'amount', 'nonce'],
    properties: {
      spender: { $ref: '#/components/schemas/EvmAddress', description: 'Who may spend.' },
      amount: { $ref: '#/components/schemas/DecimalString', description: 'How much, in base units.' },
      nonce: { title: 'Nonce', description: 'The nonce of the permit.', ...uint64 }
    }
  },
  Approvals: {
    title: 'Approvals',
    description: 'Allowances of one account, newest first.',
    type: 'array',
    items: { $ref: '#/components/schemas/Approval' }
  },
  StakeParams: {
    title: 'Parameters of getStake',
    description: '`[stakeAuthority]`.',
    type: 'array',
    minItems: 1,
    maxItems: 1,
    additionalItems: false,
    items: [{ $ref: '#/components/schemas/SolanaAddress' }]
  },
  Stake: {
    title: 'Stake',
    description: 'What is staked.',
    type: 'object',
    additionalProperties: false,
    required: ['lamports'],
    properties: {
      lamports: { title: 'Lamports', description: 'The stake.', ...uint64 },
      lamportsString: {
        $ref: '#/components/schemas/DecimalString',
        description: 'The same as decimal digits.',
        'x-extension': true
      }
    }
  }
}
