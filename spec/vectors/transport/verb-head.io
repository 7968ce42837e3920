// HEAD is refused without a body.
// HEAD /evm-chain
// < 405
// < allow: POST, OPTIONS
