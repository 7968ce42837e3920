// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A proxy whose implementation can be taken away: what it held is still in its storage, and nothing reads it any more.
contract HollowProxy {
    /// Slots of their own, so that the implementation's variables are where it expects them.
    bytes32 private constant slot = keccak256("chain-data devnet hollow proxy");

    constructor(address implementation) {
        point(implementation);
    }

    function point(address implementation) public {
        bytes32 place = slot;
        assembly {
            sstore(place, implementation)
        }
    }

    fallback() external {
        bytes32 place = slot;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(place), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
