// A name is no address.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":["vitalik.eth"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a 20-byte address: 0x and 40 hexadecimal digits; got \"vitalik.eth\". ENS names have to be resolved first.","path":"/params/0"}}}
