// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Answers each selector with whatever it was told to, and logs whatever it was told to. No compiler lets one write
/// tokens as bad as these.
contract ScriptedToken {
    enum Act {
        Return,
        Revert,
        ReturnZeros,
        RevertZeros,
        ReturnText,
        Loop,
        LoopStorage,
        Invalid
    }

    /// `size` is the length of the zeros, or of a well-formed text of zeros; `data` what is returned or reverted with.
    struct Answer {
        bytes4 selector;
        Act act;
        uint256 size;
        bytes data;
    }

    struct Log {
        bytes32[] topics;
        bytes data;
    }

    /// Stands for all selectors without an answer of their own. Without it they revert.
    bytes4 private constant otherwise = 0xffffffff;
    mapping(bytes4 selector => Answer) private answers;

    constructor(Answer[] memory told, Log[] memory logs) {
        for (uint256 i = 0; i < told.length; i++) answers[told[i].selector] = told[i];
        for (uint256 i = 0; i < logs.length; i++) log(logs[i].topics, logs[i].data);
    }

    fallback() external {
        bytes4 selector = answers[msg.sig].selector == 0 ? otherwise : msg.sig;
        Answer storage answer = answers[selector];
        require(answer.selector != 0);
        (Act act, uint256 size) = (answer.act, answer.size);
        if (act == Act.Loop) while (true) {}
        if (act == Act.LoopStorage) {
            assembly {
                for { let slot := 0 } 1 { slot := add(slot, add(sload(slot), 1)) } {}
            }
        }
        if (act == Act.Invalid) {
            assembly {
                invalid()
            }
        }
        if (act == Act.Return || act == Act.Revert) {
            bytes memory data = answer.data;
            assembly {
                switch act
                case 0 { return(add(data, 32), mload(data)) }
                default { revert(add(data, 32), mload(data)) }
            }
        }
        assembly {
            let free := mload(0x40)
            if eq(act, 2) { return(free, size) }
            if eq(act, 3) { revert(free, size) }
            mstore(free, 32)
            mstore(add(free, 32), size)
            return(free, add(size, 64))
        }
    }

    function log(bytes32[] memory topics, bytes memory data) private {
        assembly {
            let at := add(data, 32)
            let size := mload(data)
            let topic := add(topics, 32)
            switch mload(topics)
            case 1 { log1(at, size, mload(topic)) }
            case 2 { log2(at, size, mload(topic), mload(add(topic, 32))) }
            case 3 { log3(at, size, mload(topic), mload(add(topic, 32)), mload(add(topic, 64))) }
            case 4 {
                log4(at, size, mload(topic), mload(add(topic, 32)), mload(add(topic, 64)), mload(add(topic, 96)))
            }
        }
    }
}
