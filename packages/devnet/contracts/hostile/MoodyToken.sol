// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// Says something else depending on who asks, when, and with how much gas.
contract MoodyToken is TokenLogs {
    enum Mood {
        /// Far more to those who bring much gas, as wallets that do not limit it.
        MoreForMuchGas,
        /// Burns everything beyond a million gas, and behaves below.
        BurnsMuchGas,
        /// Far more when the holder asks.
        MoreForHolder,
        /// The height of the block.
        BlockNumber,
        /// As many bytes as the height says, beginning with a word: never the same length twice.
        Lengths
    }

    string public constant name = "Moody";
    string public constant symbol = "MOOD";
    uint8 public constant decimals = 0;
    uint256 public constant plain = 1000;
    uint256 public constant tall = 10 ** 30;
    Mood private immutable mood;
    address private immutable holder;

    constructor(Mood mood_, address holder_) {
        mood = mood_;
        holder = holder_;
        logFungible(address(0), holder_, plain);
        if (mood_ == Mood.BurnsMuchGas) logUnique(address(0), holder_, 1);
    }

    function balanceOf(address account) external view returns (uint256) {
        if (account != holder) return 0;
        if (mood == Mood.MoreForMuchGas) return gasleft() > 1_000_000 ? tall : plain;
        if (mood == Mood.BurnsMuchGas) burn();
        if (mood == Mood.MoreForHolder) return msg.sender == holder ? tall : plain;
        if (mood == Mood.BlockNumber) return block.number;
        if (mood == Mood.Lengths) {
            uint256 amount = plain;
            uint256 size = 32 + block.number % 64;
            assembly {
                let free := mload(0x40)
                mstore(free, amount)
                return(free, size)
            }
        }
        return plain;
    }

    /// Only the one that burns gas is a collection too.
    function ownerOf(uint256) external view returns (address) {
        require(mood == Mood.BurnsMuchGas);
        return holder;
    }

    function tokenURI(uint256) external view returns (string memory) {
        burn();
        return "data:application/json,{}";
    }

    /// In steps that are dear in gas: cheap ones would keep slow nodes busy for a minute.
    function burn() private view {
        if (gasleft() < 1_000_000) return;
        assembly {
            for { let slot := 0 } 1 { slot := add(slot, add(sload(slot), 1)) } {}
        }
    }
}
