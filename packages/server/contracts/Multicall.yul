/// Reads many contracts in one `eth_call`, with a gas cap and a return cap for each. Nobody deploys it. The same bytes run
///
/// - as the code of an account, put there by a state override: the input is the calldata, the result is returned;
/// - as initcode with the input behind it, in a call without a receiver: the result is the data of a revert, because what
///   initcode returns may not be longer than a contract.
///
/// Input: 4 bytes, the most bytes of results; then per call 20 bytes receiver, 4 bytes gas, 4 bytes most return data,
/// 2 bytes length of its data, its data.
///
/// Result: 28 bytes of magic, 4 bytes number of results; then per result 1 byte outcome, 3 bytes length, data.
/// There are fewer results than calls when gas or room came to an end; the rest was not attempted. The first call always
/// is. Outcomes: 0 returned, 1 reverted, 2 burnt all its gas or nearly so, 3 returned more than its cap, 4 unknown: what was
/// left was too little to give the call its cap, or to keep what it returned (the first call only).
///
/// Calls are static: what one contract does cannot change what another one answers.
object "Multicall" {
  code {
    let isInitcode := iszero(calldatasize())
    let size
    switch isInitcode
    case 0 {
      size := calldatasize()
      calldatacopy(0, 0, size)
    }
    default {
      size := sub(codesize(), datasize("Multicall"))
      codecopy(0, datasize("Multicall"), size)
    }

    // Results lie behind the input, which callees cannot write to either.
    let results := and(add(size, 63), not(31))
    let at := add(results, 32)
    let limit := add(at, shr(224, mload(0)))
    let count := 0

    for { let entry := 4 } lt(entry, size) {} {
      let head := mload(entry)
      let cap := and(shr(64, head), 0xffffffff)
      let length := and(shr(16, head), 0xffff)

      // A callee gets at most 63/64 of what is left (EIP-150). The rest pays for reaching a cold account and for the end.
      let isWhole := gt(gas(), add(add(cap, div(cap, 63)), 40000))
      if iszero(or(isWhole, iszero(count))) { break }

      let before := gas()
      // Nothing is copied by the call itself, however much is returned.
      let isReturned := staticcall(cap, shr(96, head), add(entry, 30), length, 0, 0)
      let used := sub(before, gas())

      let outcome := 0
      let copied := 0
      switch isReturned
      case 0 {
        outcome := 1
        // Whoever runs out of gas, or into an invalid instruction, loses all of it and cannot say a word. A proxy whose
        // implementation did so has kept a 64th, and reverts without a word.
        if iszero(or(returndatasize(), lt(used, sub(cap, div(cap, 32))))) { outcome := 2 }
        if iszero(isWhole) { outcome := 4 }
      }
      default {
        copied := returndatasize()
        if gt(copied, and(shr(32, head), 0xffffffff)) {
          outcome := 3
          copied := 0
        }
      }

      let end := add(add(at, 4), copied)
      // All memory up to the end, as if none of it were paid for, and the copying.
      let words := div(add(end, 63), 32)
      let price := add(add(div(mul(words, words), 512), mul(words, 6)), 10000)
      if or(gt(end, limit), lt(gas(), price)) {
        if count { break }
        outcome := 4
        copied := 0
        end := add(at, 4)
      }
      mstore(at, shl(224, or(shl(24, outcome), copied)))
      returndatacopy(add(at, 4), 0, copied)
      at := end
      count := add(count, 1)
      entry := add(add(entry, 30), length)
    }

    mstore(results, or(0x636861696e2d64617461206d756c746963616c6c20726573756c743a00000000, count))
    if isInitcode { revert(results, sub(at, results)) }
    return(results, sub(at, results))
  }
}
