// An EVM address is no Solana address; the answer carries chainId.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","chainId":103,"params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516"]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a base58 public key of 32 to 44 characters. This looks like an address of an EVM chain: those are asked for at /evm-chain.","path":"/params/0"}}}
