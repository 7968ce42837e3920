// DELETE is not served; the answer says what is.
// DELETE /evm-chain
// < 405
// < allow: POST, OPTIONS
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"HTTP method not allowed","data":{"reason":"METHOD_NOT_ALLOWED","extraMessage":"Send the request with POST."}}}
