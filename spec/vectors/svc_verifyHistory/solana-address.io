// A Solana address is no EVM address, whatever the method has on /solana.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_verifyHistory","chainId":31337,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a 20-byte address: 0x and 40 hexadecimal digits. This looks like an address on Solana: those are asked for at /solana.","path":"/params/0"}}}
