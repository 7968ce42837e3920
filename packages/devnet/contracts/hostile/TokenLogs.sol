// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Logs of every standard side by side. Solidity does not let one contract declare two events of one name and one list
/// of types, and ERC-20 and ERC-721 differ in what is indexed only.
abstract contract TokenLogs {
    bytes32 private constant transferTopic = keccak256("Transfer(address,address,uint256)");

    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );

    function logFungible(address from, address to, uint256 amount) internal {
        bytes32 topic = transferTopic;
        assembly {
            mstore(0, amount)
            log3(0, 32, topic, from, to)
        }
    }

    function logUnique(address from, address to, uint256 id) internal {
        bytes32 topic = transferTopic;
        assembly {
            log4(0, 0, topic, from, to, id)
        }
    }

    function logUnits(address from, address to, uint256 id, uint256 amount) internal {
        emit TransferSingle(msg.sender, from, to, id, amount);
    }
}
