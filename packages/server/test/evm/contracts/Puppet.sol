// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Does what it is told, also while it is created: any tree of frames can be made of puppets.
/// A step that fails is passed over; what is sent to it besides is kept.
contract Puppet {
    enum Kind {
        Call,
        DelegateCall,
        StaticCall,
        CallCode,
        Create,
        Create2,
        SelfDestruct,
        Revert,
        Invalid,
        /// Destroys itself for the good of itself.
        Vanish
    }

    struct Step {
        Kind kind;
        address target;
        uint256 value;
        /// Calldata; of a creation the creation code.
        bytes data;
        /// Gas of a call; 0: all there is.
        uint256 gasLimit;
    }

    constructor(Step[] memory steps) payable {
        run(steps);
    }

    receive() external payable {}

    function act(Step[] memory steps) external payable {
        run(steps);
    }

    function run(Step[] memory steps) private {
        for (uint256 i = 0; i < steps.length; i++) take(steps[i]);
    }

    function take(Step memory step) private {
        Kind kind = step.kind;
        address target = step.target;
        uint256 value = step.value;
        bytes memory data = step.data;
        uint256 gasLimit = step.gasLimit == 0 ? gasleft() : step.gasLimit;
        if (kind == Kind.Revert) revert("told to");
        assembly {
            let start := add(data, 32)
            let size := mload(data)
            switch kind
            case 0 { pop(call(gasLimit, target, value, start, size, 0, 0)) }
            case 1 { pop(delegatecall(gasLimit, target, start, size, 0, 0)) }
            case 2 { pop(staticcall(gasLimit, target, start, size, 0, 0)) }
            case 3 { pop(callcode(gasLimit, target, value, start, size, 0, 0)) }
            case 4 { pop(create(value, start, size)) }
            case 5 { pop(create2(value, start, size, target)) }
            case 6 { selfdestruct(target) }
            case 8 { invalid() }
            case 9 { selfdestruct(address()) }
        }
    }
}
