// A preflight needs no credentials and has no body.
// OPTIONS /evm-chain
// > authorization:
// > content-type:
// > origin: https://dapp.example
// > access-control-request-method: POST
// > access-control-request-headers: authorization,content-type
// < 204
