// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// Calls back whoever asks, with the question it was asked and with words of every kind, before it answers.
contract ReentrantToken is TokenLogs {
    string public constant name = "Reentrant";
    string public constant symbol = "REEN";
    uint8 public constant decimals = 0;
    address private immutable holder;

    constructor(address holder_) {
        holder = holder_;
        logFungible(address(0), holder_, 1000);
    }

    function balanceOf(address account) external view returns (uint256) {
        callBack(msg.data);
        callBack("");
        callBack(abi.encodePacked(type(uint256).max, type(uint256).max, address(this), msg.data));
        // The form of a list of calls: a limit, then receiver, gas, most bytes, length, data.
        callBack(
            abi.encodePacked(
                uint32(0xffff), address(this), uint32(50_000), uint32(0xffff), uint16(msg.data.length), msg.data
            )
        );
        return account == holder ? 1000 : 0;
    }

    function callBack(bytes memory words) private view {
        (bool ok,) = msg.sender.staticcall{gas: 60_000}(words);
        ok;
    }
}
