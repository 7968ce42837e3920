/// A contract whose calldata says which logs a call writes, so that a chain can be made with logs of any number and kind. It keeps
/// no state.
///
/// Input: 4 bytes that are ignored, 1 byte: 1 to fail, 1 byte: how many logs, then 9 bytes for each: its kind, and two accounts of
/// 4 bytes. Account 0 is the caller, any other one the address whose bytes are the last 20 of the hash of its number.
object "Traffic" {
  code {
    datacopy(0, dataoffset("runtime"), datasize("runtime"))
    return(0, datasize("runtime"))
  }
  object "runtime" {
    code {
      let head := calldataload(0)
      if byte(4, head) { revert(0, 0) }
      let at := 6
      for { let count := byte(5, head) } count { count := sub(count, 1) } {
        let entry := calldataload(at)
        let from := account(and(shr(216, entry), 0xffffffff))
        let to := account(and(shr(184, entry), 0xffffffff))
        // Some 56 bits: what tokens of 18 decimals move.
        let amount := shr(200, entry)
        mstore(0, amount)
        mstore(32, timestamp())
        mstore(64, amount)
        mstore(96, number())
        switch byte(0, entry)
        // Transfer(address,address,uint256): of ERC-20, of ERC-721
        case 0 { log3(0, 32, 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef, from, to) }
        case 1 { log4(0, 0, 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef, from, to, amount) }
        // Approval(address,address,uint256)
        case 2 { log3(0, 32, 0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925, from, to) }
        // Sync(uint112,uint112)
        case 3 { log1(0, 64, 0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1) }
        // Swap(address,uint256,uint256,uint256,uint256,address)
        case 4 { log3(0, 128, 0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822, from, to) }
        // An event of its own, with no data
        default { log3(0, 0, 0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d, from, to) }
        at := add(at, 9)
      }

      function account(index) -> address_ {
        switch index
        case 0 { address_ := caller() }
        default {
          mstore(0, index)
          address_ := and(keccak256(0, 32), 0xffffffffffffffffffffffffffffffffffffffff)
        }
      }
    }
  }
}
