// An EVM address is no Solana address.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a base58 public key of 32 to 44 characters. This looks like an address of an EVM chain: those are asked for at /evm-chain.","path":"/params/0"}}}
